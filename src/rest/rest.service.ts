/**
 * Table REST from end to end: parse, read the body, prepare, run, write. Each stage takes the output of the one before it and
 * calls no earlier one:
 *
 * | stage   | input                               | output          | refuses                                 |
 * |---------|-------------------------------------|-----------------|-----------------------------------------|
 * | parse   | IncomingRequest                     | ParsedRequest   | bad syntax                              |
 * | body    | RequestShape, HeldBody              | RequestBody     | bodies that are no JSON, CSV or form    |
 * | prepare | ParsedRequest, RequestBody, Catalog | PreparedRequest | unknown tables, columns and functions   |
 * | run     | PreparedRequest                     | Execution, rows | errors of PostgreSQL                    |
 * | write   | PreparedRequest, Execution          | the response    | results of another size than asked for  |
 *
 * RetryService alone decides whether a failed request runs again.
 */
import { Injectable } from '@nestjs/common';
import type { HeldBody } from '../http/bodies/body-budget';
import { BodyCopies } from './body/body-copies';
import { readRequestBody } from './body/request-body';
import { ErrorExplainer } from './execute/error-explainer.service';
import { RestExecutor } from './execute/rest-executor.service';
import type { ParsedRequest } from './grammar/rest-request';
import type { IncomingRequest } from './incoming-request';
import { assertPreferences } from './plan/assert-preferences';
import type { PreparedRequest } from './prepare/prepared-request';
import { QueryParser } from './query-parser.service';
import type { ResponseWriter } from './response-writer';
import { RetryService } from './retry.service';

@Injectable()
export class RestService {
  constructor(
    private readonly parser: QueryParser,
    private readonly executor: RestExecutor,
    private readonly explainer: ErrorExplainer,
    private readonly retry: RetryService,
  ) {}

  /** @throws AppError or the driver's error, as long as nothing was written */
  async handle(incoming: IncomingRequest, writer: ResponseWriter): Promise<void> {
    const parsed = this.parser.parse(incoming.raw);
    if (parsed.shape.method === 'OPTIONS') return this.handleOptions(incoming, parsed, writer);
    return incoming.withBody(parsed.shape, (held) => this.answer(incoming, parsed, held, writer));
  }

  private async answer(
    { caller, facts }: IncomingRequest,
    parsed: ParsedRequest,
    held: HeldBody | null,
    writer: ResponseWriter,
  ): Promise<void> {
    assertPreferences(parsed.shape);
    const body = await readRequestBody(parsed.shape, held);
    const copies = new BodyCopies(held);
    await this.retry.run(caller.database, {
      prepare: (snapshot) => {
        const prepared = this.parser.prepare(caller, parsed, body, snapshot);
        copies.reserve(prepared.statements.main.length);
        return prepared;
      },
      run: (prepared) => this.runAndWrite({ caller, facts }, prepared, writer),
      explain: (error, prepared) => this.explainer.explain(error, { caller, facts }, prepared),
      mayRepeat: () => !writer.hasBegun,
    });
  }

  private async runAndWrite(
    sender: Pick<IncomingRequest, 'caller' | 'facts'>,
    prepared: PreparedRequest,
    writer: ResponseWriter,
  ): Promise<void> {
    const answer = writer.open(prepared);
    try {
      const execution = await this.executor.run(sender, prepared, answer.rows);
      answer.write(execution);
    } catch (error) {
      answer.discard();
      throw error;
    }
  }

  private async handleOptions(
    { caller }: IncomingRequest,
    { shape }: ParsedRequest,
    writer: ResponseWriter,
  ): Promise<void> {
    const methods = await this.retry.onCatalog(caller.database, (catalog) =>
      this.parser.allowedMethods(caller, shape, catalog),
    );
    writer.writeMethods(methods);
  }
}
