/** One connection of a project's pool. It keeps its session clean, and makes Plinth's errors of the driver's. */
import {
  PipelineConnection,
  ResultTooLargeError,
  type RunningPipeline,
  type Statement,
} from '../../pg-pipeline';
import { cleanError } from '../sql/clean-error';
import { loginConfig, type ProjectDatabase } from './project-database';
import { resultTooLarge } from './result-too-large';
import { SessionState } from './session-state';

export class PooledConnection extends PipelineConnection {
  /** Milliseconds of the monotonic clock at which it was last given back. */
  idleSince = 0;
  /** Pipelines that were sent; each is one round trip, however many statements it holds. */
  roundTrips = 0;
  private readonly session = new SessionState();

  constructor(readonly database: ProjectDatabase) {
    super({ ...loginConfig(database), application_name: 'plinth' });
    // A transaction changed one of the reported settings for the session.
    this.onParameterStatus = () => (this.session.isClean = false);
  }

  override start(statements: readonly Statement[]): RunningPipeline {
    this.roundTrips += 1;
    return super.start(statements);
  }

  /** AppError 500 for a result that is too large; else the driver's error, or what a sink has thrown. */
  protected override onFailure(error: Error): Error {
    this.session.isClean = false;
    const failure = super.onFailure(error);
    return failure instanceof ResultTooLargeError ? resultTooLarge(failure.maxBytes) : cleanError(failure);
  }

  /** To be sent after the last statement of a piece of work, in the same round trip. Releases what the session holds. */
  get departure(): readonly Statement[] {
    return this.session.departure;
  }

  /** False after a failure, or when a function left something that `departure` does not undo. */
  get isClean(): boolean {
    return this.session.isClean;
  }

  /** Makes the session clean again, or marks the connection as broken. */
  async clean(): Promise<void> {
    try {
      await this.pipeline(this.session.cleaning);
      this.session.isClean = true;
    } catch {
      this.broken = true;
    }
  }

  /** Called when rows begin to flow to a client; set by the pool. */
  onStream: (client: string, end: () => void) => void = () => undefined;

  /**
   * From now on the connection is held for as long as a client takes to read.
   * @param client address
   * @param end breaks the answer off when others need the connection
   * @throws DatabaseFault too_many_streams when too many are held like that
   */
  beginStream(client: string, end: () => void): void {
    this.onStream(client, end);
  }
}
