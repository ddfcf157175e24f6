/**
 * Two machines as network namespaces of Linux, with one link between them through a switch. The link can drop all packets, as
 * when a switch fails, or be slow. The test reaches both machines at all times. It needs root.
 */
import { execFileSync, spawnSync } from 'node:child_process';

/**
 * A network for tests of network devices (RFC 2544). Each machine shares one network with the test, and the
 * two machines share another.
 */
const NETWORK = '198.18';
const LINK = 3;

const ip = (...args: string[]): void => void execFileSync('ip', args, { stdio: 'pipe' });

export const hasNamespaces =
  process.getuid?.() === 0 &&
  spawnSync('unshare', ['-n', 'ip', 'link', 'add', 'probe', 'type', 'bridge']).status === 0;

export interface Machine {
  /** Address under which the test reaches it. */
  readonly address: string;
  /** Address under which the other machine reaches it. */
  readonly linkAddress: string;
  /** Prefix of a command that runs on the machine. */
  readonly launcher: readonly string[];
}

export class TwoMachines {
  private readonly switch: string;
  readonly machines: readonly [Machine, Machine];
  private readonly names: readonly string[];

  private constructor(id: string) {
    this.switch = `${id}-switch`;
    this.names = [1, 2].map((n) => `${id}-${n}`);
    const machineOf = (n: number): Machine => ({
      address: `${NETWORK}.${n}.2`,
      linkAddress: `${NETWORK}.${LINK}.${n}`,
      launcher: ['ip', 'netns', 'exec', `${id}-${n}`],
    });
    this.machines = [machineOf(1), machineOf(2)];
  }

  static create(): TwoMachines {
    const created = new TwoMachines(`plinth-${process.pid}`);
    created.setUp();
    return created;
  }

  /** Drops all packets between the machines, while both see the link as up. */
  cut(): void {
    ip('-n', this.switch, 'link', 'set', 'port1', 'nomaster');
  }

  heal(): void {
    ip('-n', this.switch, 'link', 'set', 'port1', 'master', 'bridge0');
  }

  /** @param rate the rate of each direction in the format of tc, such as `1mbit` */
  limit(rate: string): void {
    for (const port of ['port1', 'port2']) {
      const shaping = ['tbf', 'rate', rate, 'burst', '16kb', 'latency', '500ms'];
      execFileSync('tc', ['-n', this.switch, 'qdisc', 'replace', 'dev', port, 'root', ...shaping]);
    }
  }

  remove(): void {
    for (const name of [...this.names, this.switch]) spawnSync('ip', ['netns', 'del', name]);
  }

  private setUp(): void {
    ip('netns', 'add', this.switch);
    ip('-n', this.switch, 'link', 'add', 'bridge0', 'type', 'bridge');
    ip('-n', this.switch, 'link', 'set', 'bridge0', 'up');
    this.names.forEach((name, index) => {
      const n = index + 1;
      ip('netns', 'add', name);
      ip('-n', name, 'link', 'set', 'lo', 'up');
      const own = `pl${process.pid % 100_000}m${n}`;
      ip('link', 'add', own, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', name);
      ip('address', 'add', `${NETWORK}.${n}.1/24`, 'dev', own);
      ip('link', 'set', own, 'up');
      ip('-n', name, 'address', 'add', `${NETWORK}.${n}.2/24`, 'dev', 'eth0');
      ip('-n', name, 'link', 'set', 'eth0', 'up');
      ip('-n', name, 'link', 'add', 'eth1', 'type', 'veth', 'peer', 'name', `port${n}`, 'netns', this.switch);
      ip('-n', name, 'address', 'add', `${NETWORK}.${LINK}.${n}/24`, 'dev', 'eth1');
      ip('-n', name, 'link', 'set', 'eth1', 'up');
      ip('-n', this.switch, 'link', 'set', `port${n}`, 'master', 'bridge0');
      ip('-n', this.switch, 'link', 'set', `port${n}`, 'up');
    });
  }
}
