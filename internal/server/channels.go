package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/certwatcher"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	fleetv1alpha1 "go.landscaper.dev/api/fleet/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/controller/channel"
	channelfollow "go.landscaper.dev/internal/controller/channel/follow"
	"go.landscaper.dev/internal/controller/channel/taglists"
	"go.landscaper.dev/internal/runtime/reporter"
	"go.landscaper.dev/internal/server/feature"
	"go.landscaper.dev/internal/server/listen"
	"go.landscaper.dev/internal/server/webhook"
)

// ChannelsConfig is what Channels get besides their own specification.
type ChannelsConfig struct {
	// Webhook takes notifications that there is something new.
	Webhook struct {
		// Address is where it listens; without one, or with "0", notifications are not taken.
		Address string `json:"address"`
		// TLS are files with a certificate and its key. Without them, a proxy in front has to serve TLS.
		TLS struct {
			Certificate string `json:"certificate"`
			Key         string `json:"key"`
		} `json:"tls"`
	} `json:"webhook"`
}

// Enabled reports whether notifications are taken.
func (c *ChannelsConfig) Enabled() bool { return c.Webhook.Address != "" && c.Webhook.Address != "0" }

func (c *ChannelsConfig) validate() error {
	if c.Enabled() && (c.Webhook.TLS.Certificate == "") != (c.Webhook.TLS.Key == "") {
		return errors.New("channels.webhook.tls needs both certificate and key, or none of them")
	}
	return nil
}

// fleets is the feature Fleets of a process: Channels, and Fleets.
type fleets struct{ optional }

func newFleets(config *Config) *fleets {
	return &fleets{optional{
		feature: feature.Fleets, group: fleetv1alpha1.GroupVersion, kinds: []string{"Channel", "Fleet"},
		on: config.Features.Enabled(feature.Fleets), without: "neither Channels nor Fleets do anything",
	}}
}

// addChannels adds the controllers of Channels, or waits for their kind.
func (f *fleets) addChannels(ctx context.Context, manager ctrl.Manager, config *Config, library *library) error {
	switch {
	case f.missing.Load():
		return manager.Add(f)
	case !f.on || !config.runs(Installations):
		return nil
	}
	events := reporter.RateLimited(manager.GetEventRecorder("Landscaper"))
	reconciler := &channel.Reconciler{
		Client: manager.GetClient(), Reader: manager.GetAPIReader(), Events: events, Now: time.Now,
		Poller: &channel.Poller{
			Contexts: manager.GetClient(), Sources: library.sources, Components: library.components, Lists: &taglists.Lists{Now: time.Now}, Now: time.Now,
		},
	}
	if err := reconciler.SetupWithManager(ctx, manager, &v1alpha1.Installation{}); err != nil {
		return fmt.Errorf("set up the Channel controller: %w", err)
	}
	follower := &channelfollow.Reconciler{Client: manager.GetClient(), Events: events}
	if err := follower.SetupWithManager(manager); err != nil {
		return fmt.Errorf("set up what lets Installations follow Channels: %w", err)
	}
	if err := config.register(append(reconciler.Metrics(), follower.Metrics()...)...); err != nil {
		return err
	}
	return addWebhook(ctx, manager, config)
}

// webhookLimits keep one client from taking the places of all.
var webhookLimits = listen.Limits{Total: 64, PerClient: 8}

// addWebhook serves notifications, also in replicas that wait to work: they note that a poll is wanted.
func addWebhook(ctx context.Context, to ctrl.Manager, config *Config) error {
	hook := config.Channels.Webhook
	if !config.Channels.Enabled() {
		return nil
	}
	receiver := &webhook.Receiver{
		Channels: to.GetClient(), Secrets: to.GetAPIReader(), Now: time.Now, Log: to.GetLogger().WithName("webhook"),
		Poll: requestPoll(to.GetClient()),
	}
	if err := config.register(receiver.Metrics()...); err != nil {
		return err
	}
	endpoint := listen.Endpoint{Name: "webhook", Address: hook.Address, Handler: receiver.Handler(ctx), Limits: webhookLimits}
	certificates, err := renewed(to, hook.TLS.Certificate, hook.TLS.Key)
	if err != nil {
		return fmt.Errorf("channels.webhook.tls: %w", err)
	}
	endpoint.Certificates = certificates
	return listen.Add(to, endpoint)
}

// requestPoll asks for a poll of a Channel, as a user does.
func requestPoll(writer client.Writer) func(context.Context, types.NamespacedName) error {
	return func(ctx context.Context, key types.NamespacedName) error {
		ch := &fleetv1alpha1.Channel{}
		ch.Namespace, ch.Name = key.Namespace, key.Name
		patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:%q}}}`, fleetv1alpha1.PollAnnotation, time.Now().UTC().Format(time.RFC3339Nano))
		if err := writer.Patch(ctx, ch, client.RawPatch(types.MergePatchType, patch)); err != nil {
			return fmt.Errorf("ask for a poll of Channel %s: %w", key, err)
		}
		return nil
	}
}

// renewed returns a certificate that is read again when it was renewed; nil without files.
func renewed(to manager.Manager, certificate, key string) (*tls.Config, error) {
	if certificate == "" {
		return nil, nil
	}
	certificates, err := certwatcher.New(certificate, key)
	if err != nil {
		return nil, err // the caller names the field
	}
	if err := to.Add(certificates); err != nil {
		return nil, err // the caller names the field
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}, GetCertificate: certificates.GetCertificate}, nil
}
