/** The OpenAPI page of the project, with the credentials of the chosen identity. Its files are those of `/docs`. */
import { Anchor, Group, SegmentedControl } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { PLINTH_URL } from '../api/base-url';
import { projectHeaders } from '../api/identity';
import { fetchDocument, useProject } from '../queries/projects';
import { useT } from '../i18n';
import { Loaded } from '../ui/feedback';
import { Page } from '../ui/parts';

interface SwaggerUi {
  preauthorizeApiKey(scheme: string, value: string): void;
}

declare global {
  interface Window {
    SwaggerUIBundle?: (options: Record<string, unknown>) => SwaggerUi;
  }
}

interface Shown {
  readonly spec: Record<string, unknown>;
  readonly apikey: string;
  readonly token: string;
}

export function ApiDocsScreen() {
  const t = useT();
  const project = useProject();
  const [as, setAs] = useState<'anon' | 'service_role'>('anon');
  const document = useQuery({
    queryKey: ['openapi', project.id, as],
    queryFn: async (): Promise<Shown> => {
      const headers = await projectHeaders(project.id, { as });
      const [spec] = await Promise.all([fetchDocument(project, { as }), loadSwagger()]);
      const token = headers.Authorization!.slice('Bearer '.length);
      return { spec: { ...spec, servers: [{ url: PLINTH_URL }] }, apikey: headers.apikey!, token };
    },
    staleTime: 60_000,
  });
  return (
    <Page
      title={t('apiDocs')}
      text={t('apiText')}
      actions={
        <Group gap="md">
          <Anchor size="sm" href={`${PLINTH_URL}/docs`} target="_blank" rel="noopener">
            /docs
          </Anchor>
          <SegmentedControl
            value={as}
            onChange={(value) => setAs(value)}
            data={['anon', 'service_role']}
            aria-label={t('role')}
          />
        </Group>
      }
    >
      <Loaded query={document}>{(shown) => <Swagger key={as} {...shown} />}</Loaded>
    </Page>
  );
}

function Swagger({ spec, apikey, token }: Shown) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const node = place.current!;
    const ui: SwaggerUi = window.SwaggerUIBundle!({
      spec,
      domNode: node,
      docExpansion: 'list',
      tryItOutEnabled: true,
      persistAuthorization: false,
      onComplete: () => {
        ui.preauthorizeApiKey('apikey', apikey);
        ui.preauthorizeApiKey('bearer', token);
      },
    });
    return () => node.replaceChildren();
  }, [spec, apikey, token]);
  return <div ref={place} className="swagger" />;
}

/** Loads Swagger UI from the files of `/docs`, once, when it is first needed. */
async function loadSwagger(): Promise<void> {
  if (window.SwaggerUIBundle) return;
  const style = Object.assign(document.createElement('link'), {
    rel: 'stylesheet',
    href: `${PLINTH_URL}/docs/swagger-ui.css`,
  });
  const script = Object.assign(document.createElement('script'), {
    src: `${PLINTH_URL}/docs/swagger-ui-bundle.js`,
  });
  const loaded = new Promise<void>((resolve, reject) => {
    script.onload = () => resolve();
    script.onerror = () => reject(new Error('Swagger UI could not be loaded'));
  });
  document.head.append(style, script);
  await loaded;
}
