/** The page that shows the result of a test of a provider. */
import type { Project } from '../../../projects/project';
import type { ProviderIdentity } from '../../providers/provider-identity';
import type { MailPage } from '../mail-page';

/** For an administrator: the provider's data about the account, or the error. */
export function trialPage(project: Project, identity: ProviderIdentity | null, fault?: string): MailPage {
  const facts = Object.entries(identity?.data ?? {}).map(([name, value]) => [
    name,
    typeof value === 'string' ? value : JSON.stringify(value),
  ]);
  return {
    language: 'en',
    title: 'Test of a provider',
    project: project.name,
    message: fault ?? `${identity?.provider} answered. Nobody was signed in, and nothing was stored.`,
    facts: Object.fromEntries(facts) as Record<string, string>,
  };
}
