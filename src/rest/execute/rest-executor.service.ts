/** Runs a prepared request through the door: one round trip, except where the result decides whether it is committed. */
import { Injectable } from '@nestjs/common';
import { RlsTransaction } from '../../database/rls/rls-transaction';
import type { StatementResult } from '../../database/statement';
import type { StreamConsumer } from '../../row-stream/response-stream';
import type { RowCollector } from '../../row-stream/row-collector';
import type { PreparedRequest } from '../prepare/prepared-request';
import { commitDecision, type Execution, executionOf, takePlanLines } from './execution';
import { type RequestPipeline, requestPipeline } from './request-pipeline';
import { consistencyToken, replicaFor } from './read-source';
import { isReadOnly, type RequestSender, settingsOf } from './request-settings';

@Injectable()
export class RestExecutor {
  constructor(private readonly door: RlsTransaction) {}

  /**
   * @throws the driver's DatabaseError unchanged; AppError for an outcome that the request rules out, and for
   * more rows than memory permits
   */
  async executeRequest(
    sender: RequestSender,
    prepared: PreparedRequest,
    rows: RowCollector,
  ): Promise<Execution> {
    const pipeline = requestPipeline(sender.caller, prepared, rows);
    const settings = settingsOf(sender, prepared);
    const { server } = sender.caller.database;
    let token: string | null = null;
    if (server === undefined || isReadOnly(prepared)) settings.replica = replicaFor(sender, prepared);
    else settings.onCommitted = (position) => (token = consistencyToken(server, position));
    const { caller, context } = sender;
    context.statement = pipeline.statements[pipeline.before]?.text ?? null;
    const began = performance.now();
    const consumer = consumerOf(pipeline, rows);
    const decide = commitDecision(prepared);
    let results: StatementResult[];
    try {
      results =
        decide === null
          ? await this.door.stream(caller, pipeline.statements, settings, consumer)
          : await this.door.runThenDecide(
              caller,
              pipeline.statements,
              settings,
              (all) => decide(executionOf(all, pipeline).rows),
              consumer,
            );
    } catch (error) {
      throw rows.refusal ?? error;
    } finally {
      context.databaseMs = (context.databaseMs ?? 0) + performance.now() - began;
    }
    if (prepared.plan.representation.kind === 'explain') takePlanLines(results, pipeline, rows);
    return executionOf(results, pipeline, token);
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
