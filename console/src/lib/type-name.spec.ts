import { shortType } from './type-name';

describe('the short name of a type', () => {
  it.each([
    ['timestamp with time zone', 'timestamptz'],
    ['timestamp(3) with time zone', 'timestamptz(3)'],
    ['timestamp without time zone[]', 'timestamp[]'],
    ['time without time zone', 'time'],
    ['character varying(20)[]', 'varchar(20)[]'],
    ['character(2)', 'char(2)'],
    ['double precision', 'float8'],
    ['numeric(10,2)', 'numeric(10,2)'],
    ['"timestamp with time zone"', '"timestamp with time zone"'],
  ])('of %s is %s', (type, short) => expect(shortType(type)).toBe(short));
});
