/** The form of an upload, independent of its wire format. */

export interface UploadForm {
  /** The fields received so far; complete after end(). */
  readonly fields: ReadonlyMap<string, string>;
  /** The file's own name. */
  readonly filename: string | null;
  /** The content type that the client states for the file. */
  readonly declaredType: string | null;
  readonly bytes: AsyncIterable<Buffer>;
  /** Resolves when the form was read to its end. @throws AppError 400 when it ended early or is malformed */
  end(): Promise<void>;
}
