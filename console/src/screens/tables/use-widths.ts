/** Widths of columns in pixels: a guess by type until the border is dragged. */
import { useState } from 'react';
import type { Column, Relation } from '../../queries/catalog-types';
import { shortType } from '../../lib/type-name';

const MIN_PX = 60;

function guess({ name, type, category }: Column): number {
  const byName = 52 + name.length * 8.5 + Math.min(shortType(type).length, 18) * 6.3;
  if (category === 'B') return Math.max(90, byName);
  if (category === 'N') return Math.max(100, byName);
  if (type === 'uuid') return Math.max(290, byName);
  if (category === 'D') return Math.max(220, byName);
  return Math.max(210, byName);
}

export function useWidths({ columns }: Relation) {
  const [dragged, setDragged] = useState<ReadonlyMap<string, number>>(new Map());
  return {
    list: columns.map((column) => dragged.get(column.name) ?? guess(column)),
    set: (name: string, width: number) =>
      setDragged((old) => new Map(old).set(name, Math.max(MIN_PX, width))),
  };
}
