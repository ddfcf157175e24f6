/** Runs a prepared request through the door: one round trip, except where the result decides whether it is committed. */
import { Injectable } from '@nestjs/common';
import { RlsTransaction, type StreamTaker } from '../../database/rls/rls-transaction';
import type { PreparedRequest } from '../prepare/prepared-request';
import { commitDecision } from './commit-decision';
import type { Execution } from './execution';
import { executionOf, takePlanLines } from './execution-results';
import { type RequestPipeline, requestPipeline } from './request-pipeline';
import { type RequestSender, settingsOf } from './request-settings';
import type { RowTaker } from './row-taker';

@Injectable()
export class RestExecutor {
  constructor(private readonly door: RlsTransaction) {}

  /** @throws the driver's DatabaseError as it came; AppError for an outcome that the request rules out */
  async run(sender: RequestSender, prepared: PreparedRequest, taker: RowTaker): Promise<Execution> {
    const { caller } = sender;
    const pipeline = requestPipeline(caller, prepared, taker);
    const settings = settingsOf(sender, prepared);
    const streamTaker = streamTakerOf(pipeline, taker);
    const decide = commitDecision(prepared);
    const results = await (decide === null
      ? this.door.stream(caller, pipeline.statements, settings, streamTaker)
      : this.door.runThenDecide(
          caller,
          pipeline.statements,
          settings,
          (all) => decide(executionOf(all, pipeline).rows),
          streamTaker,
        ));
    if (prepared.plan.representation.kind === 'explain') takePlanLines(results, pipeline, taker);
    return executionOf(results, pipeline);
  }
}

function streamTakerOf(pipeline: RequestPipeline, taker: RowTaker): StreamTaker {
  return {
    onStart: (control) => taker.onStart(control),
    onRepeat: () => {
      pipeline.absent.rows = 0;
      return taker.onRepeat();
    },
  };
}
