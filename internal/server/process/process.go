// Package process has the common parts of the server programs: the run until a signal, a logger,
// the connection to the cluster, and the namespace of the process.
package process

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
)

// Execute runs a command until it ends, or a signal ends it, and returns the exit code.
func Execute(command *cobra.Command) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := command.ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		return 1
	}
	return 0
}

// NewLogger returns a logger to standard error and makes all libraries use it. The format is text
// or json; the level debug logs every step, error only failures.
func NewLogger(format, level string) (logr.Logger, error) {
	if format != "text" && format != "json" {
		return logr.Logger{}, fmt.Errorf("--log-format %q: use text or json", format)
	}
	options := &slog.HandlerOptions{Level: slog.LevelInfo}
	switch level {
	case "debug":
		options.Level = slog.Level(-1)
	case "error":
		options.Level = slog.LevelError
	}
	var handler slog.Handler = slog.NewTextHandler(os.Stderr, options)
	if format == "json" {
		handler = slog.NewJSONHandler(os.Stderr, options)
	}
	log := logr.FromSlogHandler(handler)
	ctrl.SetLogger(log)
	klog.SetLogger(log)
	return log, nil
}

// RESTConfig returns the connection to the cluster of a kubeconfig file, or of the usual places if
// no file is given. The program's name is the user agent.
func RESTConfig(kubeconfig, program string) (*rest.Config, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = kubeconfig
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, nil).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("read kubeconfig: %w", err)
	}
	config.UserAgent = program
	// The API server's priority and fairness decides; a client-side limit would only add delays.
	config.QPS = -1
	// The API server warns at every write that the published finalizer has no domain.
	config.WarningHandler = rest.NoWarnings{}
	return config, nil
}

// OwnNamespace returns the namespace that the program runs in; empty outside a
// cluster.
func OwnNamespace() string {
	content, err := os.ReadFile("/var/run/secrets/kubernetes.io/serviceaccount/namespace")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(content))
}
