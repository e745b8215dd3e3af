/** Starts the page. */
import { createRoot } from "react-dom/client";
import "./styles/base.css";
import "./styles/frame.css";
import "./styles/messages.css";
import "./styles/calls.css";
import "./styles/first-steps.css";
import { App } from "./ui/app.tsx";

const root = document.getElementById("root");
if (root === null) throw new Error("index.html has no #root");
createRoot(root).render(<App />);
