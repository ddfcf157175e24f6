/** Uploads into folders, a few at a time, until the storage screen is left. */
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import type { Project } from '../../queries/projects';
import { uploadFile } from '../../queries/storage';
import type { NamedFile } from './dropped-files';

const PARALLEL = 3;

interface UploadState {
  readonly id: number;
  readonly name: string;
  /** Share of the file that was sent, 0 to 1. */
  readonly part: number;
  readonly error: unknown;
}

let nextId = 1;

export function useUploads(project: Project) {
  const client = useQueryClient();
  const [list, setList] = useState<readonly UploadState[]>([]);
  const abort = useRef(new AbortController());
  useEffect(() => {
    abort.current = new AbortController();
    return () => abort.current.abort();
  }, []);
  const set = (id: number, change: Partial<UploadState>): void =>
    setList((old) => old.map((one) => (one.id === id ? { ...one, ...change } : one)));
  const drop = (id: number): void => setList((old) => old.filter((one) => one.id !== id));

  const start = (bucket: string, prefix: string, files: readonly NamedFile[]): void => {
    const { signal } = abort.current;
    const waiting = files.map((one) => ({ ...one, id: nextId++ }));
    setList((old) => [...old, ...waiting.map(({ id, path }) => ({ id, name: path, part: 0, error: null }))]);
    const work = async (): Promise<void> => {
      for (let next = waiting.shift(); next; next = waiting.shift()) {
        const { id, file, path } = next;
        try {
          const onProgress = (part: number): void => set(id, { part });
          if (!signal.aborted) await uploadFile({ project, bucket, prefix, file, path, onProgress, signal });
          drop(id);
        } catch (error) {
          if (signal.aborted) drop(id);
          else set(id, { error });
        }
      }
    };
    void Promise.all(Array.from({ length: PARALLEL }, work)).then(() =>
      client.invalidateQueries({ queryKey: ['files', project.id] }),
    );
  };

  return {
    list,
    start,
    dismiss: drop,
    running: list.filter(({ error }) => error === null).length,
    cancel: () => {
      abort.current.abort();
      abort.current = new AbortController();
    },
  };
}

export type Uploads = ReturnType<typeof useUploads>;
