import { RELATION_SUFFIXES, SchemaNames } from './schema-names';

describe('SchemaNames', () => {
  const named = (objects: string[], reserved: string[] = []): Record<string, string> => {
    const names = new SchemaNames('public', reserved);
    const split = objects.map((text) => {
      const [schema = '', name = ''] = text.split('.');
      return { schema, name };
    });
    return Object.fromEntries(
      names.nameAll(split, RELATION_SUFFIXES, ({ schema, name }) => `${schema}.${name}`),
    );
  };

  it('puts the schema first for other schemas', () => {
    expect(named(['public.notes', 'api.notes'])).toEqual({
      'public.notes': 'Notes',
      'api.notes': 'ApiNotes',
    });
  });

  it('puts the schema first on a clash, and then adds a number', () => {
    expect(named(['public.a b', 'public.A_B', 'public.a_b', 'public.a-b'])).toEqual({
      'public.a_b': 'AB',
      'public.A_B': 'PublicAB',
      'public.a b': 'PublicAB2',
      'public.a-b': 'PublicAB3',
    });
  });

  it('keeps the names of the schemas for Insert and Update free', () => {
    expect(named(['public.notes', 'public.notes_insert'])).toEqual({
      'public.notes': 'Notes',
      'public.notes_insert': 'PublicNotesInsert',
    });
  });

  it('does not depend on the order of the objects', () => {
    const objects = ['public.a b', 'api.a_b', 'public.A_B', 'public.api_a_b', 'public.a_b'];
    expect(named([...objects].reverse())).toEqual(named(objects));
  });

  it('leaves reserved names alone', () => {
    expect(named(['public.json'], ['Json'])).toEqual({ 'public.json': 'PublicJson' });
  });

  it('names objects of another kind after those that were named before', () => {
    const names = new SchemaNames('public');
    const one = { schema: 'public', name: 'a_b' };
    expect([...names.nameAll([one], [''], () => 'k')]).toEqual([['k', 'AB']]);
    expect([...names.nameAll([one], [''], () => 'k')]).toEqual([['k', 'PublicAB']]);
    expect([...names.nameAll([one], ['Args', 'Result'], () => 'k')]).toEqual([['k', 'AB']]);
  });
});
