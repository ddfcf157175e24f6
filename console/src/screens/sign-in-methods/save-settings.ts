/** Saves settings of a sign-in method. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { api, dataOf, type Schema } from '../../api/client';
import { useT } from '../../i18n';
import { type Project, projectQuery } from '../../queries/projects';
import { announce } from '../../ui/feedback';

export type SettingsChange = NonNullable<Schema<'UpdateProjectDto'>['settings']>;

export function useSaveSettings(project: Project) {
  const t = useT();
  const client = useQueryClient();
  return useMutation({
    mutationFn: (settings: SettingsChange) =>
      dataOf(
        api.PATCH('/admin/v1/projects/{id}', {
          params: { path: { id: project.id } },
          body: { settings },
        }),
      ),
    onSuccess: (changed) => {
      client.setQueryData(projectQuery(project.slug).queryKey, changed);
      announce(t('settingsSaved', { name: changed.name }));
    },
  });
}
