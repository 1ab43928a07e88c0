// Package check has the scripts that check the blueprints of a Git repository, for an action and for hooks of
// pre-commit. Its tests run them in repositories.
package check
