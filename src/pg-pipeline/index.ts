/** The library's interface: see README.md. Other code imports nothing else from it. */
export { HostGroup } from './host-group';
export { formatHost, type HostAddress, hostsOf, parseHost, withHostList } from './host-list';
export { HostListClient, type HostListConfig } from './host-list-client';
export { LimitedClient, type LimitedClientConfig } from './limited-client';
export { ResultTooLargeError } from './statement';
export { fixedStatement } from './statement';
export { TextBytes } from './message-writer';
export type { MessageLimits } from './message-limiter';
export { PipelineConnection, type PipelineConfig, type RunningPipeline } from './pipeline-connection';
export { STALE_PLAN } from './pipelined-query';
export { BINARY, type Format, TEXT } from './protocol';
export { PrimarySocket } from './host-list-client';
export { eachRow, type RawRow, readRow, type RowSink } from './statement';
export type { ServerAddress } from './send-cancel';
export { runSingleCommand } from './single-command';
export { isSocketDirectory, socketPath } from './send-cancel';
export type { Statement, StatementResult } from './statement';
