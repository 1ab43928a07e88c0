// Package alerts tests the alert rules of the chart with the engine and the reader of rules of
// Prometheus. The tests have the form of "promtool test rules" without annotations. The packages with which
// promtool runs them bring libraries of clouds: 514 packages of other modules to compile, here it is 129.
package alerts
