/** Takes the WebSocket upgrades of Realtime, within the limits of the process and of each project, and ends sockets gracefully. */
import { STATUS_CODES, type IncomingMessage, type Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { Inject, Injectable, Logger, OnApplicationBootstrap } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { WebSocketServer, type RawData, type WebSocket } from 'ws';
import { SocketCredentials } from '../access/socket-credentials.service';
import type { VerifiedApiKey } from '../access/strategies/api-key.strategy';
import { AppError, httpError } from '../common/errors/app-error';
import { messageOf } from '../common/errors/error-facts';
import { SERVER_CONFIG, type ServerConfig } from '../config/app-config';
import { platformErrorBody } from '../http/errors/platform-error-docs';
import { decodedOrSame } from '../http/syntax/percent-encoding';
import { toOriginForm } from '../http/request-head';
import { Metrics } from '../infra/metrics/metrics';
import { ChannelHub } from './channel-hub.service';
import { type ProtocolVersion, readBinary, readText } from './phoenix-protocol';
import { MAX_FRAME_BYTES } from './realtime-limits';
import { CLOSE, RealtimeSocket } from './realtime-socket';
import { SocketInbox, SocketMessages } from './socket-messages.service';

const PATH = /^(?:\/p\/([^/?]+))?\/realtime\/v1\/websocket\/?(?:\?|$)/;

/** The share of MAX_CLIENT_CONNECTIONS that sockets may use; the rest is for requests. */
const SHARE_OF_CONNECTIONS = 0.75;

@Injectable()
export class RealtimeGateway implements OnApplicationBootstrap {
  private readonly logger = new Logger(RealtimeGateway.name);
  private readonly server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: MAX_FRAME_BYTES,
    perMessageDeflate: false,
  });
  /** Keyed by project. */
  private readonly sockets = new Map<string, Set<RealtimeSocket>>();
  private count = 0;
  private received = 0;
  private isEnding = false;

  constructor(
    private readonly host: HttpAdapterHost,
    private readonly credentials: SocketCredentials,
    private readonly messages: SocketMessages,
    hub: ChannelHub,
    metrics: Metrics,
    @Inject(SERVER_CONFIG) private readonly config: ServerConfig,
  ) {
    metrics.gauge('plinth_realtime_sockets', 'WebSockets of Realtime', () => this.count);
    metrics.gauge('plinth_realtime_channels', 'Channels that clients have joined', () => hub.channels);
    metrics.gauge('plinth_realtime_messages_received_total', 'Messages from clients', () => this.received);
    metrics.gauge(
      'plinth_realtime_messages_sent_total',
      'Messages of channels to clients',
      () => hub.counts.sent,
    );
    metrics.gauge(
      'plinth_realtime_messages_dropped_total',
      'Messages that were dropped at a limit',
      () => hub.counts.dropped,
    );
  }

  onApplicationBootstrap(): void {
    const http = this.host.httpAdapter.getHttpServer() as Server;
    http.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      const url = toOriginForm(request.url ?? '');
      const path = PATH.exec(url);
      if (!path || request.headers.upgrade?.toLowerCase() !== 'websocket')
        return serveWithoutUpgrade(http, request, socket, head);
      void this.upgrade(request, socket, head, new URL(url, 'http://plinth').searchParams, path[1]);
    });
    http.on('draining', () => this.endAll());
  }

  /** The sockets of all projects, keyed by project. */
  all(): ReadonlyMap<string, ReadonlySet<RealtimeSocket>> {
    return this.sockets;
  }

  private async upgrade(
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    query: URLSearchParams,
    slug: string | undefined,
  ): Promise<void> {
    const drop = (): void => void socket.destroy();
    socket.on('error', drop);
    try {
      if (this.isEnding) throw httpError(503, 'The server restarts');
      if (this.count >= this.config.maxClientConnections * SHARE_OF_CONNECTIONS)
        throw httpError(503, 'Too many WebSockets are open');
      const version = query.get('vsn') ?? '1.0.0';
      if (version !== '1.0.0' && version !== '2.0.0') throw httpError(400, 'vsn is 1.0.0 or 2.0.0');
      const { apikey: header } = request.headers;
      const token = query.get('apikey') ?? (typeof header === 'string' ? header : undefined);
      const apiKey = await this.credentials.admit(
        token,
        slug === undefined ? undefined : decodedOrSame(slug),
      );
      const { project } = apiKey;
      if ((this.sockets.get(project.id)?.size ?? 0) >= project.settings.realtime_sockets)
        throw httpError(429, 'The project has too many WebSockets (setting realtime_sockets)');
      socket.off('error', drop);
      this.server.handleUpgrade(request, socket, head, (webSocket) =>
        this.open(webSocket, version, token ?? '', apiKey),
      );
    } catch (error) {
      this.refuse(socket, error);
    }
  }

  private open(webSocket: WebSocket, version: ProtocolVersion, token: string, apiKey: VerifiedApiKey): void {
    const socket = new RealtimeSocket(webSocket, version, token, apiKey);
    const ofProject = this.sockets.get(socket.projectId) ?? new Set();
    this.sockets.set(socket.projectId, ofProject.add(socket));
    this.count += 1;
    const inbox = new SocketInbox(socket, this.messages);
    webSocket.on('message', (data, isBinary) => this.receive(socket, inbox, data, isBinary));
    // ws closes the connection after an error; `close` follows.
    webSocket.on('error', () => undefined);
    webSocket.once('close', () => {
      this.count -= 1;
      ofProject.delete(socket);
      if (ofProject.size === 0) this.sockets.delete(socket.projectId);
      this.messages.leaveAll(socket);
    });
    if (this.isEnding) socket.close(CLOSE.restart, 'the server restarts');
  }

  private receive(socket: RealtimeSocket, inbox: SocketInbox, data: RawData, isBinary: boolean): void {
    if (!socket.isOpen) return;
    const bytes = data as Buffer;
    this.received += 1;
    socket.lastMessageAt = performance.now();
    if (!socket.messages.take(1)) return socket.close(CLOSE.policy, 'too many messages a second');
    if (!socket.bytes.take(bytes.length)) return socket.close(CLOSE.policy, 'too many bytes a second');
    const isReadable = !isBinary || socket.version === '2.0.0';
    const message =
      isReadable && (isBinary ? readBinary(bytes) : readText(socket.version, bytes.toString('utf8')));
    if (message) inbox.receive(message);
    else socket.close(CLOSE.policy, 'not a message of Phoenix channels');
  }

  private endAll(): void {
    this.isEnding = true;
    for (const ofProject of this.sockets.values())
      for (const socket of ofProject) socket.close(CLOSE.restart, 'the server restarts');
  }

  private refuse(socket: Duplex, error: unknown): void {
    const known = error instanceof AppError ? error : httpError(503, 'Please try again');
    if (known !== error) this.logger.warn(`a WebSocket was not opened: ${messageOf(error)}`);
    const body = JSON.stringify(platformErrorBody(known));
    const headers = {
      ...known.headers,
      'Content-Type': 'application/json; charset=utf-8',
      Connection: 'close',
    };
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.end(
      `HTTP/1.1 ${known.status} ${STATUS_CODES[known.status] ?? ''}\r\n${lines.join('')}` +
        `Content-Length: ${Buffer.byteLength(body)}\r\nX-Content-Type-Options: nosniff\r\n\r\n${body}`,
    );
  }
}

/**
 * RFC 9110, 7.8: a server may ignore an upgrade. Java's HttpClient asks for HTTP/2 in the first request of
 * each connection. Node reads no further requests from a connection after it has emitted `upgrade`, so the
 * server gets the request again, without the header.
 */
function serveWithoutUpgrade(server: Server, request: IncomingMessage, socket: Duplex, head: Buffer): void {
  const { method = 'GET', url = '/', httpVersion, rawHeaders } = request;
  let text = `${method} ${url} HTTP/${httpVersion}\r\n`;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [name = '', value = ''] = rawHeaders.slice(at, at + 2);
    const isUpgrade = /^(upgrade|http2-settings)$/i.test(name);
    const kept = /^connection$/i.test(name) ? withoutUpgrade(value) : value;
    if (!isUpgrade) text += `${name}: ${kept}\r\n`;
  }
  socket.unshift(Buffer.concat([Buffer.from(`${text}\r\n`, 'latin1'), head]));
  server.emit('connection', socket);
}

const withoutUpgrade = (value: string): string =>
  value
    .split(',')
    .filter((option) => !/^\s*(upgrade|http2-settings)\s*$/i.test(option))
    .join() || 'keep-alive';
