// Package execution drives Executions: it writes their DeployItems, assigns their jobs in the order
// of their dependencies, and collects what they export. Like the package installation it observes,
// decides, applies and reports.
package execution
