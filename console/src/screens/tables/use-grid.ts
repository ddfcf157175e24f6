/** The rows that a grid shows, and the unsaved changes. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { saveChanges } from '../../queries/save-changes';
import { NO_CHANGES, type Pending } from '../../lib/pending-changes';
import { type GridOptions, usePages } from './use-pages';

export function useGrid(options: GridOptions) {
  const { project, relation } = options;
  const client = useQueryClient();
  const [pending, setPending] = useState<Pending>(NO_CHANGES);
  const pages = usePages(options);
  const save = useMutation({
    mutationFn: ({ overwrites }: { overwrites: boolean }) =>
      saveChanges({ project, relation, pending, overwrites, onSaved: setPending }),
    onSettled: () =>
      client.invalidateQueries({ queryKey: ['rows', project.id, relation.schema, relation.name] }),
  });
  return { pages, pending, setPending, save };
}

export type GridState = ReturnType<typeof useGrid>;
