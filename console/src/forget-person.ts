/** Forgets what was loaded and entered for a staff member before another staff member uses the page. */
import { notifications } from '@mantine/notifications';
import { forgetCredentials } from './api/identity';
import { queryClient } from './query-client';

export function forgetPerson(): void {
  forgetCredentials();
  queryClient.clear();
  notifications.clean();
}
