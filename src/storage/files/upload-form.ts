/** An upload as the service sees it: where the bytes come from, whatever the wire format. */

export interface UploadForm {
  /** Those that came so far; complete after end(). */
  readonly fields: ReadonlyMap<string, string>;
  /** The file's own name, as its sender gives it. */
  readonly filename: string | null;
  readonly declaredType: string | null;
  readonly bytes: AsyncIterable<Buffer>;
  /** Resolves when the rest is read. @throws AppError 400 when it broke off or is malformed */
  end(): Promise<void>;
}
