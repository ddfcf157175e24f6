import { DatabaseError } from 'pg';
import { HostGroup, NoPrimaryError } from './host-group';
import type { HostAddress } from './host-list';

/** Groups are kept for the whole process, so each test has its own hosts. */
let serial = 0;
let gone: HostAddress;
let standby: HostAddress;
beforeEach(() => {
  serial += 1;
  [gone, standby] = [
    { host: `gone-${serial}`, port: 1 },
    { host: `standby-${serial}`, port: 2 },
  ];
});

/** A host that does not answer until giveUp() ends the attempt with a timeout. */
function silence(): { readonly promise: Promise<boolean>; readonly giveUp: () => void } {
  let giveUp = (): void => undefined;
  const promise = new Promise<boolean>((_, reject) => {
    giveUp = () => reject(new Error('timeout'));
  });
  return { promise, giveUp };
}

describe('HostGroup', () => {
  it('finds a standby that is promoted while the search still waits for a dead host', async () => {
    let questions = 0;
    const found = await HostGroup.of([gone, standby]).find((address) =>
      address === gone ? silence().promise : Promise.resolve((questions += 1) > 2),
    );
    expect(found).toBe(standby);
  });

  it('does not give up a host that is slow because another has answered', async () => {
    let questions = 0;
    const slow = silence();
    const search = HostGroup.of([gone, standby]).find((address) => {
      if (address === gone) return slow.promise;
      questions += 1;
      if (questions === 3) slow.giveUp();
      return Promise.resolve(false);
    });
    await expect(search).rejects.toThrow(NoPrimaryError);
    expect(questions).toBe(3);
  });

  it('gives up immediately when every host has answered', async () => {
    const questions: HostAddress[] = [];
    const search = HostGroup.of([gone, standby]).find((address) => {
      questions.push(address);
      return Promise.resolve(false);
    });
    await expect(search).rejects.toThrow(/is a standby/);
    expect(questions).toEqual([gone, standby]);
  });

  it('reports the refusal of a host, such as for a wrong password', async () => {
    const refusal = Object.assign(new DatabaseError('password authentication failed', 1, 'error'), {
      code: '28P01',
    });
    const search = HostGroup.of([gone, standby]).find((address) =>
      address === gone ? Promise.reject(new Error('refused')) : Promise.reject(refusal),
    );
    await expect(search).rejects.toBe(refusal);
  });
});
