/** The selected rows of a grid with their values, because the pages that have them may be dropped. */
import { useState } from 'react';
import type { Row } from '../../lib/grid-query';

export function useSelection() {
  const [rows, setRows] = useState<ReadonlyMap<string, Row>>(new Map());
  return {
    rows,
    toggle: (key: string, row: Row): void => {
      const next = new Map(rows);
      if (!next.delete(key)) next.set(key, row);
      setRows(next);
    },
    add: (more: readonly (readonly [string, Row])[]): void => setRows(new Map([...rows, ...more])),
    clear: (): void => setRows(new Map()),
  };
}

export type Selection = ReturnType<typeof useSelection>;
