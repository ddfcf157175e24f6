/** Runs a prepared request through the door: one round trip, except where the result decides whether it is committed. */
import { Injectable } from '@nestjs/common';
import type { ContextSettings } from '../../database/rls/rls-context';
import { RlsTransaction } from '../../database/rls/rls-transaction';
import type { StatementResult } from '../../database/statement';
import type { StreamConsumer } from '../../row-stream/flow-control';
import type { RowCollector } from '../../row-stream/row-collector';
import type { PreparedRequest } from '../prepare/prepared-request';
import { commitDecision } from './commit-decision';
import type { Execution } from './execution';
import { executionOf, takePlanLines } from './execution-results';
import { type RequestPipeline, requestPipeline } from './request-pipeline';
import { consistencyToken, replicaFor } from './read-source';
import { isReadOnly, type RequestSender, settingsOf } from './request-settings';

@Injectable()
export class RestExecutor {
  constructor(private readonly door: RlsTransaction) {}

  /**
   * @throws the driver's DatabaseError as it came; AppError for an outcome that the request rules out, and for rows that
   *   are too many to be held
   */
  async run(sender: RequestSender, prepared: PreparedRequest, rows: RowCollector): Promise<Execution> {
    const pipeline = requestPipeline(sender.caller, prepared, rows);
    const settings = settingsOf(sender, prepared);
    const { server } = sender.caller.database;
    let token: string | null = null;
    if (server === undefined || isReadOnly(prepared)) settings.replica = replicaFor(sender, prepared);
    else settings.onCommitted = (position) => (token = consistencyToken(server, position));
    let results: StatementResult[];
    try {
      results = await this.send(sender, prepared, pipeline, settings, consumerOf(pipeline, rows));
    } catch (error) {
      throw rows.refusal ?? error;
    }
    if (prepared.plan.representation.kind === 'explain') takePlanLines(results, pipeline, rows);
    return executionOf(results, pipeline, token);
  }

  private send(
    sender: RequestSender,
    prepared: PreparedRequest,
    pipeline: RequestPipeline,
    settings: ContextSettings,
    consumer: StreamConsumer,
  ): Promise<StatementResult[]> {
    const decide = commitDecision(prepared);
    if (decide === null) return this.door.stream(sender.caller, pipeline.statements, settings, consumer);
    return this.door.runThenDecide(
      sender.caller,
      pipeline.statements,
      settings,
      (all) => decide(executionOf(all, pipeline).rows),
      consumer,
    );
  }
}

function consumerOf(pipeline: RequestPipeline, rows: RowCollector): StreamConsumer {
  return {
    onStart: (control) => rows.onStart(control),
    onRepeat: () => {
      pipeline.absent.rows = 0;
      return rows.refusal === null && rows.onRepeat();
    },
  };
}
