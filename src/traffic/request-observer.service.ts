/** Passes each request that has ended to the observers of requests. Requests take longer only while there are observers. */
import { Injectable } from '@nestjs/common';
import { databaseTimeOf, watchRequestTimes } from '../http/request-times';
import { Project } from '../projects/project';
import { ProjectRegistry } from '../projects/project-registry.service';
import { History } from '../install/history/history.service';
import { isNotable, toHistoryEntry } from './request-history';
import { EndedRequest, Ending, maskedPath, ObservedRequest } from './ended-request';
import { RequestSamples } from './samples/request-samples.service';

/** Called with each request that ends. */
export type RequestSink = (ended: EndedRequest, request: ObservedRequest) => void;

@Injectable()
export class RequestObserver {
  private readonly sinks = new Set<RequestSink>();

  constructor(
    private readonly registry: ProjectRegistry,
    private readonly samples: RequestSamples,
    private readonly history: History,
  ) {}

  /** @returns a function that removes the sink */
  add(sink: RequestSink): () => void {
    this.sinks.add(sink);
    const endWatch = watchRequestTimes();
    return () => {
      this.sinks.delete(sink);
      endWatch();
    };
  }

  /** @param url as in the request line */
  observe(request: ObservedRequest, url: string, ending: Ending): void {
    const project = request.caller?.project ?? request.apiKey?.project ?? this.projectOfPath(url);
    if (project) this.samples.count(project.id, ending);
    // Refused requests of strangers must not displace failed requests with a key.
    const isNoted = isNotable(ending) && (request.caller ?? request.apiKey) !== undefined;
    const isKept = project !== null && this.history.admits(project.id, isNoted);
    if (this.sinks.size === 0 && !isKept) return;
    const ended: EndedRequest = {
      ...ending,
      beganAt: Date.now() - ending.ms,
      project: project && { id: project.id, slug: project.slug },
      method: request.method ?? '',
      path: maskedPath(url),
      role: request.caller?.role ?? null,
      databaseMs: databaseTimeOf(request),
    };
    for (const sink of this.sinks) sink(ended, request);
    if (isKept) this.history.add(project.id, toHistoryEntry(ended, request));
  }

  /**
   * Requests with a signed URL, and refused requests, have no key. No query is sent, so only projects with
   * recent requests are found.
   */
  private projectOfPath(url: string): Project | null {
    const [, slug, id] = /^\/(?:p\/([a-z0-9-]{1,63})|v1\/auth\/([a-z0-9]{1,63}))\//.exec(url) ?? [];
    if (slug !== undefined) return this.registry.peekBySlug(slug);
    return id === undefined ? null : this.registry.peek(id);
  }
}
