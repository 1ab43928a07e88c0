// Package states tests what kube-state-metrics makes of our kinds with the configuration of the chart.
package states
