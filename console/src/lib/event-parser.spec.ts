import { EventParser } from './event-parser';

it('reads events that arrive in pieces, and leaves comments out', () => {
  const parser = new EventParser();
  expect(parser.push(': connected\n\nevent: request\nda')).toEqual([]);
  expect(parser.push('ta: {"a":\ndata: 1}\n')).toEqual([]);
  expect(parser.push('\ndata: x\r\n\r\n:\n\n')).toEqual([
    { name: 'request', data: '{"a":\n1}' },
    { name: 'message', data: 'x' },
  ]);
});

it('refuses an event without an end', () => {
  const parser = new EventParser();
  const piece = 'x'.repeat(400_000);
  parser.push(piece);
  parser.push(piece);
  expect(() => parser.push(piece)).toThrow(RangeError);
});
