/**
 * The members of each channel in this process, and the delivery of messages to them. A project's messages keep their order; large
 * deliveries yield to the event loop, and projects take turns.
 */
import { Injectable } from '@nestjs/common';
import type { SharedFrame } from './phoenix-protocol';
import { PROJECT_LIMITS } from './realtime-limits';
import type { Channel } from './realtime-socket';

/** Number of members that get a message before it is the turn of other projects and requests. */
const SLICE = 250;

interface Delivery {
  readonly members: Iterator<Channel>;
  readonly frame: SharedFrame;
  readonly wants: (channel: Channel) => boolean;
}

interface ProjectRooms {
  readonly rooms: Map<string, Set<Channel>>;
  readonly queue: Delivery[];
  queuedBytes: number;
  heldBytes: number;
  channels: number;
}

@Injectable()
export class ChannelHub {
  private readonly projects = new Map<string, ProjectRooms>();
  private isDelivering = false;
  /** Members that got a message in this turn of the event loop. */
  private given = 0;
  private readonly roomHandlers: ((event: 'open' | 'closed', projectId: string) => void)[] = [];
  /** Messages to clients since the start, and messages that were dropped at a limit. */
  readonly counts = { sent: 0, dropped: 0 };

  /** Registers a handler for the first channel of a project in this process, and for the end of its last channel. */
  onProject(handler: (event: 'open' | 'closed', projectId: string) => void): void {
    this.roomHandlers.push(handler);
  }

  get channels(): number {
    return [...this.projects.values()].reduce((sum, { channels }) => sum + channels, 0);
  }

  projectIds(): string[] {
    return [...this.projects.keys()];
  }

  channelsOf(projectId: string): number {
    return this.projects.get(projectId)?.channels ?? 0;
  }

  hasRoom(projectId: string, room: string): boolean {
    return this.projects.get(projectId)?.rooms.has(room) ?? false;
  }

  add(channel: Channel): void {
    const { projectId } = channel.socket;
    let project = this.projects.get(projectId);
    const isFirst = project === undefined;
    project ??= { rooms: new Map(), queue: [], queuedBytes: 0, heldBytes: 0, channels: 0 };
    this.projects.set(projectId, project);
    const members = project.rooms.get(channel.room) ?? new Set();
    project.rooms.set(channel.room, members.add(channel));
    project.channels += 1;
    if (isFirst) for (const handler of this.roomHandlers) handler('open', projectId);
  }

  /** Measures what a socket's channels hold now. @returns whether the project may hold that much */
  measure({ socket }: Channel): boolean {
    const project = this.projects.get(socket.projectId);
    if (!project) return true;
    const bytes = socket.measure();
    project.heldBytes += bytes - socket.heldBytes;
    socket.heldBytes = bytes;
    return project.heldBytes <= PROJECT_LIMITS.heldBytes;
  }

  /** Call it when the socket no longer has the channel. */
  remove(channel: Channel): void {
    const { projectId } = channel.socket;
    const project = this.projects.get(projectId);
    const members = project?.rooms.get(channel.room);
    if (!project || !members?.delete(channel)) return;
    project.channels -= 1;
    this.measure(channel);
    if (members.size === 0) project.rooms.delete(channel.room);
    if (project.rooms.size > 0) return;
    this.projects.delete(projectId);
    for (const handler of this.roomHandlers) handler('closed', projectId);
  }

  /** Sends a message to the members of a room that want it. */
  deliver(projectId: string, room: string, frame: SharedFrame, wants: (channel: Channel) => boolean): void {
    const project = this.projects.get(projectId);
    const members = project?.rooms.get(room);
    if (!project || !members) return;
    if (project.queue.length === 0 && this.given + members.size <= SLICE) {
      if (this.given === 0) setImmediate(() => (this.given = 0));
      this.given += members.size;
      for (const channel of members) this.give(channel, frame, wants);
      return;
    }
    const { queuedMessages, queuedBytes } = PROJECT_LIMITS;
    if (project.queue.length >= queuedMessages || project.queuedBytes + frame.size > queuedBytes) {
      this.counts.dropped += 1;
      return;
    }
    project.queuedBytes += frame.size;
    project.queue.push({ members: members.values(), frame, wants });
    if (!this.isDelivering) this.continueSoon();
  }

  private continueSoon(): void {
    this.isDelivering = true;
    setImmediate(() => {
      let isLeft = false;
      for (const project of this.projects.values()) isLeft = this.deliverSlice(project) || isLeft;
      this.isDelivering = false;
      if (isLeft) this.continueSoon();
    });
  }

  /** @returns whether there are messages left */
  private deliverSlice(project: ProjectRooms): boolean {
    let left = SLICE;
    while (left > 0) {
      const delivery = project.queue[0];
      if (!delivery) return false;
      const next = delivery.members.next();
      if (next.done) {
        project.queue.shift();
        project.queuedBytes -= delivery.frame.size;
      } else {
        this.give(next.value, delivery.frame, delivery.wants);
        left -= 1;
      }
    }
    return project.queue.length > 0;
  }

  private give(channel: Channel, frame: SharedFrame, wants: (channel: Channel) => boolean): void {
    if (!wants(channel)) return;
    this.counts.sent += 1;
    channel.socket.sendShared(frame);
  }
}
