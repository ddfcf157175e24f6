/** Between a source of rows and the consumer that takes them while they arrive. */

/** How a consumer slows its source, or stops it. */
export interface FlowControl {
  pause(): void;
  resume(): void;
  /** Resolves when the source was asked to stop. */
  cancel(): Promise<void>;
  /** Ends the session, which undoes what was not committed. Resolves when it has ended, or the connection is closed. */
  endSession(): Promise<void>;
  /**
   * From now on the client's pace decides how long the source is in use.
   * @param client address
   * @param end breaks the answer off when others need the source
   * @throws AppError 503 when clients hold too many sources like that
   */
  beginStream(client: string, end: () => void): void;
}

/** Takes rows before it is certain that they count. */
export interface StreamConsumer {
  /** Before the first row. */
  onStart(control: FlowControl): void;
  /** The statements are about to run again: forgets their rows. False where rows were sent to the client already. */
  onRepeat(): boolean;
}
