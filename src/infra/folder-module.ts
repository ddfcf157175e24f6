/** Modules whose providers are found in their folder, so that a new service needs no entry in a list. */
import { readdirSync, type Dirent } from 'node:fs';
import path from 'node:path';
import { Module, type ModuleMetadata, type Provider, type Type } from '@nestjs/common';
import { INJECTABLE_WATERMARK } from '@nestjs/common/constants';

const PROVIDERS = /\.(check|renderer|repository|service)\.[jt]s$/;

/**
 * Provides and exports the injectable classes of services, repositories, checks and renderers in a folder and
 * the folders in it without a module.
 * @param metadata imports, controllers and other providers. List classes here that are never injected, so
 * that lint reports unused classes
 */
export function FolderModule(folder: string, metadata: ModuleMetadata = {}): ClassDecorator {
  const found = injectablesIn(folder, readdirSync(folder, { withFileTypes: true }));
  const providers = [...new Set<Provider>([...found, ...(metadata.providers ?? [])])];
  const exported = providers.map((one) => (typeof one === 'function' ? one : one.provide));
  return Module({ ...metadata, providers, exports: [...exported, ...(metadata.exports ?? [])] });
}

function injectablesIn(folder: string, entries: Dirent[]): Type[] {
  return entries.flatMap((entry) => {
    const file = path.join(folder, entry.name);
    if (entry.isDirectory()) {
      const within = readdirSync(file, { withFileTypes: true });
      return within.some(({ name }) => /\.module\.[jt]s$/.test(name)) ? [] : injectablesIn(file, within);
    }
    if (!PROVIDERS.test(entry.name)) return [];
    // oxlint-disable-next-line typescript/no-require-imports -- files that are found when the process starts
    return Object.values(require(file) as Record<string, unknown>).filter(isProvider);
  });
}

const isProvider = (value: unknown): value is Type =>
  typeof value === 'function' && Reflect.hasOwnMetadata(INJECTABLE_WATERMARK, value);
