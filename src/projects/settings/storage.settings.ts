/** Settings of files (DECISIONS.md 6). */
import { flag, integer } from './setting';

export const STORAGE_SETTINGS = {
  preview_pdf_inline: flag({
    fallback: false,
    description: 'Previews show PDF files in the browser instead of offering them for saving',
  }),

  storage_requests_per_minute: integer({
    fallback: null,
    fallbackText: "the plan's",
    description: "Overrides the plan's storage rate",
    details: 'See [rate](storage.md#rate).',
    minimum: 1,
    maximum: 10_000_000,
  }),

  max_file_size: integer({
    fallback: null,
    fallbackText: '`MAX_FILE_SIZE`',
    description: "Bytes of a file; a bucket may set less, the installation's MAX_FILE_SIZE is the maximum",
    minimum: 1,
  }),

  storage_quota_bytes: integer({
    fallback: null,
    fallbackText: 'none',
    description: 'Bytes of all files together',
    minimum: 1,
  }),

  storage_quota_files: integer({
    fallback: null,
    fallbackText: 'none',
    description: 'Number of files',
    minimum: 1,
  }),
};
