/** The OpenAPI page of the project, with the credentials of the chosen identity. It uses the files of `/docs`. */
import { useQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useRef } from 'react';
import { PLINTH_URL } from '../../api/base-url';
import { type Identity, projectHeaders } from '../../api/identity';
import { identityFromText } from '../../lib/identity-link';
import { fetchDocument, type Project } from '../../queries/projects';
import { Loaded } from '../../ui/feedback';
import styles from './reference.module.css';

interface SwaggerUi {
  preauthorizeApiKey(scheme: string, value: string): void;
}

declare global {
  interface Window {
    SwaggerUIBundle?: (options: Record<string, unknown>) => SwaggerUi;
  }
}

export default function Reference({ project, as }: { project: Project; as: string }) {
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
    <Loaded query={document}>
      {(spec) => <Swagger key={as} project={project} identity={identity} spec={spec} />}
    </Loaded>
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
      // Hundreds of expanded operations take seconds to draw.
      docExpansion: 'none',
      defaultModelsExpandDepth: -1,
      tryItOutEnabled: true,
      persistAuthorization: false,
      onComplete: () => void authorize(),
      // The token that was filled in expires after five minutes.
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
