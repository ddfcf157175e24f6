/** Positions of moved tables in the picture of a schema, which the browser stores. */
import type { Point } from './schema-layout';

const nameOf = (projectId: string, schema: string): string => `plinth.schema.${projectId}.${schema}`;

export function readPlaces(projectId: string, schema: string): ReadonlyMap<string, Point> {
  try {
    const stored = JSON.parse(localStorage.getItem(nameOf(projectId, schema)) ?? '[]') as [string, Point][];
    return new Map(stored.filter(([id, { x, y }]) => typeof id === 'string' && isFinite(x) && isFinite(y)));
  } catch {
    return new Map();
  }
}

export function keepPlaces(projectId: string, schema: string, places: ReadonlyMap<string, Point>): void {
  try {
    if (places.size === 0) localStorage.removeItem(nameOf(projectId, schema));
    else localStorage.setItem(nameOf(projectId, schema), JSON.stringify([...places]));
  } catch {
    // The storage of the browser is full or forbidden: the places are a convenience.
  }
}
