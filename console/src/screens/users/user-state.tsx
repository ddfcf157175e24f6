/** The state of a user: banned, verified or not. */
import { Badge } from '@mantine/core';
import { useT } from '../../i18n';
import type { User } from '../../queries/users';

export function isBanned({ banned_until: until }: User): boolean {
  return until !== null && Date.parse(until) > Date.now();
}

export function UserState({ user }: { user: User }) {
  const t = useT();
  if (isBanned(user))
    return (
      <Badge color="red" variant="light">
        {t('banned')}
      </Badge>
    );
  return user.email_verified_at === null ? (
    <Badge color="gray" variant="light">
      {t('unverified')}
    </Badge>
  ) : (
    <Badge variant="light">{t('verified')}</Badge>
  );
}
