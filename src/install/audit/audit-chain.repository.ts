/** Verifies the chain of the audit log in slices, so that a long log needs neither much memory nor a long snapshot. */
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { BrokenLink, CHAIN_START, ChainedRecord, ChainLink, findBroken } from './audit-chain';
import { HASHED_TIME } from './audit-log.repository';

/** Links that are read and hashed before other work of the process gets a turn. */
const PAGE = 1_000;

export interface ChainHead {
  readonly position: number;
  readonly hash: string;
}

export interface VerifiedSlice {
  /** Links of this slice that were checked. */
  readonly checked: number;
  /** Position of the last link that was checked; `after` when there was none. */
  readonly last: number;
  /** True when the slice ends with the newest link. */
  readonly isEnd: boolean;
  readonly head: ChainHead | null;
  readonly broken: BrokenLink | null;
}

interface LinkRow extends Omit<ChainedRecord, 'id'> {
  readonly position: number;
  readonly record_id: string;
  readonly previous_hash: string;
  readonly hash: string;
  readonly is_found: boolean;
}

@Injectable()
export class AuditChainRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** The newest link; null in an empty log. */
  async findHead(): Promise<ChainHead | null> {
    const [head] = await this.dataSource.query<ChainHead[]>(
      'select position::float8 as position, hash from audit_chain order by audit_chain.position desc limit 1',
    );
    return head ?? null;
  }

  /**
   * @param after position of the last link that was verified before; 0 for the beginning
   * @param limit links to check
   * @param expected a head that was kept elsewhere: the chain must still hold it
   */
  async verify(after: number, limit: number, expected: ChainHead | null): Promise<VerifiedSlice> {
    const missed = expected && (await this.findMissing(expected));
    const head = await this.findHead();
    if (missed) return { checked: 0, last: after, isEnd: true, head, broken: missed };
    let previous = { position: after, hash: after === 0 ? CHAIN_START : await this.hashAt(after) };
    let checked = 0;
    while (checked < limit) {
      const links = await this.linksAfter(previous.position, Math.min(PAGE, limit - checked));
      const broken = findBroken(links, previous);
      if (broken) return { checked, last: previous.position, isEnd: true, head, broken };
      checked += links.length;
      previous = links.at(-1) ?? previous;
      if (links.length === 0) break;
    }
    const isEnd = previous.position >= (head?.position ?? 0);
    const broken = isEnd ? await this.findUnchained() : null;
    return { checked, last: previous.position, isEnd, head, broken };
  }

  /** The hash of a link; empty if there is no such link, which matches no previous hash. */
  private async hashAt(position: number): Promise<string> {
    const [link] = await this.dataSource.query<{ hash: string }[]>(
      'select hash from audit_chain where position = $1',
      [position],
    );
    return link?.hash ?? '';
  }

  private async findMissing({ position, hash }: ChainHead): Promise<BrokenLink | null> {
    return (await this.hashAt(position)) === hash ? null : { position, recordId: null, fault: 'head' };
  }

  private async linksAfter(position: number, limit: number): Promise<ChainLink[]> {
    const rows = await this.dataSource.query<LinkRow[]>(
      `select c.position::float8 as position, c.record_id, c.previous_hash, c.hash, l.id is not null as is_found,
         ${HASHED_TIME} as at, l.actor, l.action, l.project_id, l.address, l.details::text as details
       from audit_chain c left join audit_log l on l.id = c.record_id
       where c.position > $1 order by c.position limit $2`,
      [position, limit],
    );
    return rows.map(({ position: place, record_id: recordId, is_found: isFound, ...row }) => ({
      position: place,
      recordId,
      previousHash: row.previous_hash,
      hash: row.hash,
      record: isFound ? { ...row, id: recordId } : null,
    }));
  }

  /** A record that was inserted with the trigger switched off. */
  private async findUnchained(): Promise<BrokenLink | null> {
    const [found] = await this.dataSource.query<{ id: string }[]>(
      `select l.id from audit_log l where not exists (select from audit_chain c where c.record_id = l.id)
       order by l.id limit 1`,
    );
    return found ? { position: null, recordId: found.id, fault: 'unchained' } : null;
  }
}
