/**
 * Texts of the console. A missing text, or a missing value of a text, is a compiler error. A text with two forms,
 * `{count} row|{count} rows`, uses the first for a count of 1.
 */
import { createContext, type ReactNode, useContext, useEffect, useMemo, useState } from 'react';
import { en, type Key, type Text } from './en';
import { translated } from './translator';

export const LANGUAGES = { en: 'English', de: 'Deutsch' } as const;
export type Language = keyof typeof LANGUAGES;

type Names<Content extends string> = Content extends `${string}{${infer Name}}${infer Rest}`
  ? Name | Names<Rest>
  : never;
type Values<Content extends string> = [Names<Content>] extends [never]
  ? []
  : [values: Readonly<Record<Names<Content>, string | number>>];

export type Translate = <One extends Key>(key: One, ...values: Values<Text<One>>) => string;

type Catalog = Readonly<Record<Key, string>>;

/** Languages other than English are loaded on demand. */
const CATALOGS: Readonly<Record<Language, () => Promise<Catalog>>> = {
  en: () => Promise.resolve(en),
  de: () => import('./de').then(({ de }) => de),
};
const STORED = 'plinth.language';

interface Languages {
  readonly language: Language;
  readonly setLanguage: (language: Language) => void;
  readonly t: Translate;
}

const Context = createContext<Languages | null>(null);

export function LanguageProvider({ children }: { children: ReactNode }) {
  const [wanted, setLanguage] = useState(firstLanguage);
  const [texts, setTexts] = useState<Pick<Languages, 'language' | 't'> | null>(null);
  useEffect(() => {
    let isWanted = true;
    localStorage.setItem(STORED, wanted);
    const show = (language: Language, catalog: Catalog): void => {
      if (!isWanted) return;
      document.documentElement.lang = language;
      setTexts({ language, t: (key, ...[values]) => translated(catalog, key, values) });
    };
    CATALOGS[wanted]().then(
      (catalog) => show(wanted, catalog),
      () => show('en', en),
    );
    return () => {
      isWanted = false;
    };
  }, [wanted]);
  const value = useMemo(() => texts && { ...texts, setLanguage }, [texts]);
  return value && <Context value={value}>{children}</Context>;
}

export function useLanguages(): Languages {
  const value = useContext(Context);
  if (!value) throw new Error('there is no LanguageProvider');
  return value;
}

export function useT(): Translate {
  return useLanguages().t;
}

function firstLanguage(): Language {
  const wanted = localStorage.getItem(STORED) ?? navigator.language;
  return wanted.startsWith('de') ? 'de' : 'en';
}
