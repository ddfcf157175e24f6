/** Settings of files. */
import { choice, flag, integer } from './setting';

export const STORAGE_SETTINGS = {
  preview_pdf_inline: flag({
    fallback: false,
    description: 'Shows PDF previews in the browser instead of downloading them',
  }),

  storage_requests_per_minute: integer({
    fallback: null,
    fallbackText: "the plan's",
    description: "Overrides the plan's storage rate",
    details: 'Only operators set it. See [rate](storage.md#rate).',
    minimum: 1,
    maximum: 10_000_000,
  }),

  max_file_size: integer({
    fallback: null,
    fallbackText: '`MAX_FILE_SIZE`',
    description:
      "Maximum size of a file in bytes, at most the installation's MAX_FILE_SIZE; a bucket may set less",
    minimum: 1,
  }),

  infected_files: choice({
    values: ['refuse', 'quarantine', 'mark'],
    fallback: 'refuse',
    description: 'What happens to an upload in which the virus scanner finds something',
    details: 'See [virus scan](storage.md#virus-scan).',
  }),

  unscanned_files: choice({
    values: ['refuse', 'mark'],
    fallback: 'refuse',
    description: 'What happens to an upload that the virus scanner cannot read',
    details: 'See [virus scan](storage.md#virus-scan).',
  }),

  storage_quota_bytes: integer({
    fallback: null,
    fallbackText: 'none',
    description: 'Maximum total size of all files in bytes',
    details: 'Only operators set it.',
    minimum: 1,
  }),

  storage_quota_files: integer({
    fallback: null,
    fallbackText: 'none',
    description: 'Maximum number of files',
    details: 'Only operators set it.',
    minimum: 1,
  }),
};
