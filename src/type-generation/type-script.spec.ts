import {
  arrayOf,
  docComment,
  indented,
  literal,
  objectType,
  orNull,
  propertyName,
  unionOf,
} from './type-script';

describe('literals and names', () => {
  it.each([
    ['plain', 'plain', '"plain"'],
    ['two words', '"two words"', '"two words"'],
    ['2fa', '"2fa"', '"2fa"'],
    ['größe', '"größe"', '"größe"'],
    ['a"b\\', '"a\\"b\\\\"', '"a\\"b\\\\"'],
    ['a\n\u2028b', '"a\\n\\u2028b"', '"a\\n\\u2028b"'],
  ])('%j is the property %s and the literal %s', (name, property, text) => {
    expect([propertyName(name), literal(name)]).toEqual([property, text]);
  });
});

describe('types', () => {
  it('have parentheses only where an array needs them', () => {
    const object = objectType([{ name: 'a', type: 'string | null' }]);
    expect(arrayOf('string')).toBe('string[]');
    expect(arrayOf('"a" | "b"')).toBe('("a" | "b")[]');
    expect(arrayOf(object)).toBe(`${object}[]`);
    expect(arrayOf(unionOf([object, 'string']))).toBe(`(${object} | string)[]`);
  });

  it('are listed once in a union; an empty one has no values', () => {
    expect(unionOf(['"a"', '"b"', '"a"'])).toBe('"a" | "b"');
    expect(unionOf([])).toBe('never');
  });

  it('accept null', () => {
    expect([orNull('string'), orNull('unknown')]).toEqual(['string | null', 'unknown']);
  });

  it('nest', () => {
    const inner = objectType([{ name: 'b', type: 'number', comment: 'One' }]);
    expect(objectType([{ name: 'a', type: inner, isOptional: true }])).toBe(
      '{\n  a?: {\n    /** One */\n    b: number;\n  };\n}',
    );
    expect(indented('a\n\nb', 2)).toBe('    a\n\n    b');
  });
});

describe('comments', () => {
  it.each([
    [null, ''],
    [' ', ''],
    ['One', '/** One */\n'],
    ['One\r\n\u2028two ', '/**\n * One\n *\n * two\n */\n'],
    ['*/ alert()', '/** *\\/ alert() */\n'],
    ['**/', '/** **\\/ */\n'],
  ])('%j becomes %j', (text, comment) => expect(docComment(text)).toBe(comment));
});
