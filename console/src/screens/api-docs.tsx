/** The OpenAPI page of the project, with the credentials of the chosen identity. Its files are those of `/docs`. */
import { Anchor, Group } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useEffect, useMemo, useRef } from 'react';
import { PLINTH_URL } from '../api/base-url';
import { type Identity, projectHeaders } from '../api/identity';
import { fetchDocument, type Project, useProject } from '../queries/projects';
import { useT } from '../i18n';
import { identityFromText, identityToText } from '../lib/identity-link';
import { Loaded } from '../ui/feedback';
import { Page } from '../ui/parts';
import { ViewAs } from '../ui/view-as';
import styles from './api-docs.module.css';

interface SwaggerUi {
  preauthorizeApiKey(scheme: string, value: string): void;
}

declare global {
  interface Window {
    SwaggerUIBundle?: (options: Record<string, unknown>) => SwaggerUi;
  }
}

const route = getRouteApi('/signed-in/projects/$slug/api');

/** Clients have the anon key, so the page begins with what it may do. */
const FIRST = 'anon';

export function ApiDocsScreen() {
  const t = useT();
  const project = useProject();
  const { as = FIRST } = route.useSearch();
  const navigate = route.useNavigate();
  const identity = useMemo(() => identityFromText(as), [as]);
  const document = useQuery({
    queryKey: ['openapi', project.id, as],
    queryFn: async () => {
      const [spec] = await Promise.all([fetchDocument(project, identity), loadSwagger()]);
      return { ...spec, servers: [{ url: PLINTH_URL }] };
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
          <ViewAs
            project={project}
            identity={identity}
            onChange={(next) => void navigate({ search: { as: identityToText(next) ?? next.as } })}
          />
        </Group>
      }
    >
      <Loaded query={document}>
        {(spec) => <Swagger key={as} project={project} identity={identity} spec={spec} />}
      </Loaded>
    </Page>
  );
}

interface SwaggerProps {
  readonly project: Project;
  readonly identity: Identity;
  readonly spec: Record<string, unknown>;
}

function Swagger({ project, identity, spec }: SwaggerProps) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const node = place.current!;
    let isGone = false;
    const ui: SwaggerUi = window.SwaggerUIBundle!({
      spec,
      domNode: node,
      // Hundreds of open operations take seconds to draw.
      docExpansion: 'none',
      defaultModelsExpandDepth: -1,
      tryItOutEnabled: true,
      persistAuthorization: false,
      onComplete: () => void authorize(),
      // The token that was filled in ends after five minutes.
      requestInterceptor: async (request: { headers: Record<string, string> }) => {
        Object.assign(request.headers, await projectHeaders(project.id, identity));
        return request;
      },
    });
    const authorize = async (): Promise<void> => {
      const { apikey, Authorization: bearer } = await projectHeaders(project.id, identity);
      if (isGone) return;
      ui.preauthorizeApiKey('apikey', apikey!);
      ui.preauthorizeApiKey('bearer', bearer!.slice('Bearer '.length));
    };
    return () => {
      isGone = true;
      node.replaceChildren();
    };
  }, [project.id, identity, spec]);
  return <div ref={place} className={styles.swagger} />;
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
