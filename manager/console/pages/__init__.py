"""The pages, a subject a module; `manager.console.routes` lists them all."""
