// What is around every view: the way between them, the theme, the key.
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { apiKey, setApiKey } from "../lib/key.ts";
import { href, type Route } from "../lib/router.ts";

export function Shell({ route, children, onKey }: { route: Route; children: ComponentChildren; onKey: () => void }) {
  const at = route.parts[0] ?? "jobs";
  return (
    <>
      <a class="skip" href="#main" onClick={(event) => { event.preventDefault(); document.getElementById("main")?.focus(); }}>Skip to the content</a>
      <header class="top">
        <a class="brand" href={href(["jobs"])}><span class="brand-mark" aria-hidden="true" />Hamtune</a>
        <nav aria-label="Main">
          <Link to="jobs" at={at}>Jobs</Link>
          <Link to="new" at={at}>New job</Link>
          <Link to="compare" at={at}>Compare</Link>
          <Link to="notifications" at={at}>Notifications</Link>
          <a href="/api/v1/docs">REST</a>
        </nav>
        <Key onKey={onKey} />
        <Theme />
      </header>
      <main id="main" tabIndex={-1}>{children}</main>
    </>
  );
}

function Link({ to, at, children }: { to: string; at: string; children: ComponentChildren }) {
  return <a href={href([to])} {...(to === at ? { "aria-current": "page" as const } : {})}>{children}</a>;
}

function Key({ onKey }: { onKey: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState(apiKey());
  useEffect(() => {
    const open = () => dialog.current?.showModal();
    window.addEventListener("keywanted", open);
    return () => window.removeEventListener("keywanted", open);
  }, []);
  const keep = (key: string) => { setApiKey(key.trim()); setText(key.trim()); dialog.current?.close(); onKey(); };
  return (
    <>
      <button type="button" class="small" onClick={() => dialog.current?.showModal()}>{text ? "Key ✓" : "Key"}</button>
      <dialog ref={dialog} aria-label="API key">
        <form method="dialog" onSubmit={(event) => { event.preventDefault(); keep(text); }}>
          <h2>API key</h2>
          <p>Some services require a key, which their users are given. It is kept until this tab is closed and sent to this service only.</p>
          <label>Key <input type="password" autocomplete="off" value={text} onInput={(event) => setText(event.currentTarget.value)} /></label>
          <p class="actions">
            <button type="submit" class="primary">Use it</button>
            <button type="button" onClick={() => keep("")}>Forget it</button>
            <button type="button" onClick={() => dialog.current?.close()}>Close</button>
          </p>
        </form>
      </dialog>
    </>
  );
}

const THEMES = ["system", "light", "dark"] as const;

function Theme() {
  const [theme, setTheme] = useState<string>(() => localStorage.getItem("hamtune-theme") ?? "system");
  useEffect(() => {
    if (theme === "system") delete document.documentElement.dataset["theme"];
    else document.documentElement.dataset["theme"] = theme;
    localStorage.setItem("hamtune-theme", theme);
    window.dispatchEvent(new Event("themechange"));
  }, [theme]);
  return (
    <label class="theme"><span class="visually-hidden">Colours</span>
      <select value={theme} onChange={(event) => setTheme(event.currentTarget.value)}>
        {THEMES.map((name) => <option key={name} value={name}>{name}</option>)}
      </select>
    </label>
  );
}
