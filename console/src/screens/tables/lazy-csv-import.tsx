/** Loads the import of files when the first file is imported, not with the grid. */
import { type ComponentProps, lazy, Suspense } from 'react';
import type { CsvImport as Dialog } from './csv-import-dialog';

const Loaded = lazy(async () => ({ default: (await import('./csv-import-dialog')).CsvImport }));

export function CsvImport(props: ComponentProps<typeof Dialog>) {
  return (
    <Suspense>
      <Loaded {...props} />
    </Suspense>
  );
}
