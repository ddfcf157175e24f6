/** The text of each project's SQL editor, while the page is open. */

interface Draft {
  readonly text: string;
  /** Query in the address that the draft was written under. */
  readonly query: string | undefined;
}

const drafts = new Map<string, Draft>();

export function keepDraft(projectId: string, draft: Draft): void {
  drafts.set(projectId, draft);
}

/** The draft, unless the address links to another statement. */
export function draftOf(projectId: string, query: string | undefined): string | undefined {
  const draft = drafts.get(projectId);
  return query === undefined || query === draft?.query ? draft?.text : undefined;
}

/** After a sign-out: the drafts are those of a person. */
export function forgetDrafts(): void {
  drafts.clear();
}
