// The theme is set before anything is drawn: the one that the reader has chosen, else that of the system.
(() => {
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  const stored = () => { try { return localStorage.getItem("theme"); } catch { return null; } };
  const set = () => { root.dataset.theme = stored() ?? (system.matches ? "dark" : "light"); };
  set();
  system.addEventListener("change", set);
  window.changeTheme = () => {
    root.dataset.theme = root.dataset.theme === "dark" ? "light" : "dark";
    try { localStorage.setItem("theme", root.dataset.theme); } catch { /* it lasts for this page */ }
  };
})();
