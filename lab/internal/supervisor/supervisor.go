// Package supervisor is the process that owns a lab: it starts the lab's components, answers the
// commands of the command line, and ends everything on request or when the lab's owner ends.
package supervisor

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"sort"
	"strings"
	"sync"
	"time"

	"go.landscaper.dev/lab/internal/instance"
	"go.landscaper.dev/lab/internal/pki"
	"go.landscaper.dev/lab/internal/ports"
	"go.landscaper.dev/lab/internal/report"
	"go.landscaper.dev/lab/internal/tools"
)

// Supervisor owns the components of one lab.
type Supervisor struct {
	instance  instance.Instance
	config    instance.Config
	workshop  tools.Workshop
	log       *slog.Logger
	started   time.Time
	ports     ports.Reservations
	authority *pki.Authority
	contact   instance.Contact
	down      context.CancelFunc

	mu         sync.Mutex
	components map[string]*component
	clusters   map[string]*cluster
	registry   *report.Registry
	git        *report.Git
	ending     bool
}

// New makes a supervisor for a lab whose directory exists.
func New(lab instance.Instance, log *slog.Logger) (*Supervisor, error) {
	config, err := lab.Config()
	if err != nil {
		return nil, err
	}
	authority, err := pki.NewAuthority("lab-ca")
	if err != nil {
		return nil, err
	}
	s := &Supervisor{
		instance: lab, config: config, log: log, started: time.Now(), authority: authority,
		components: map[string]*component{},
		clusters:   map[string]*cluster{},
	}
	s.workshop = tools.Workshop{
		Sources: config.Sources, Directory: config.ToolDirectory, Lean: config.Lean,
		Report: func(message string) { log.Info(message) },
	}
	return s, os.WriteFile(lab.Path("ca.crt"), authority.CertPEM, 0o600)
}

// Run brings the lab up, reports the outcome to started, and keeps the lab until the context ends
// or a client asks for its end. It leaves nothing behind.
func (s *Supervisor) Run(ctx context.Context, started func(error)) (err error) {
	ctx, s.down = context.WithCancel(ctx)
	defer s.down()
	defer func() { err = errors.Join(err, s.end()) }()

	server, err := s.serve()
	if err != nil {
		started(err)
		return err
	}
	defer server.Close()
	if err := s.up(ctx); err != nil {
		started(err)
		return err
	}
	s.log.Info("the lab is up", "seconds", time.Since(s.started).Seconds())
	started(nil)
	<-ctx.Done()
	s.log.Info("the lab is stopping")
	return nil
}

// up starts everything that was asked for at the same time, but an issuer before those
// who trust it: they ask for its keys when they start, and then not so soon again.
func (s *Supervisor) up(ctx context.Context) error {
	if s.config.Issuer != "" {
		if err := s.upCluster(ctx, s.config.Issuer); err != nil {
			return err
		}
	}
	var tasks []func() error
	for _, name := range s.config.Clusters {
		if name == s.config.Issuer {
			continue
		}
		tasks = append(tasks, func() error { return s.upCluster(ctx, name) })
	}
	if s.config.Registry {
		tasks = append(tasks, func() error { return s.upRegistry(ctx) })
	}
	if s.config.Git {
		tasks = append(tasks, func() error { return s.upGit(ctx) })
	}
	return inParallel(tasks)
}

func inParallel(tasks []func() error) error {
	errs := make([]error, len(tasks))
	var wait sync.WaitGroup
	for i, task := range tasks {
		wait.Go(func() { errs[i] = task() })
	}
	wait.Wait()
	return errors.Join(errs...)
}

// end kills all components and removes their files.
func (s *Supervisor) end() error {
	s.mu.Lock()
	s.ending = true
	s.mu.Unlock()
	var errs []error
	for _, c := range s.all() {
		errs = append(errs, c.retire())
	}
	errs = append(errs, s.ports.Release(), s.instance.Remove())
	return errors.Join(errs...)
}

// start adds components and starts them; it does not wait until they are ready.
func (s *Supervisor) start(specs ...Spec) ([]*component, error) {
	var added []*component
	for _, spec := range specs {
		c, err := s.add(spec)
		if err != nil {
			return nil, err
		}
		if err := c.start(); err != nil {
			return nil, err
		}
		s.log.Info("started", "component", spec.Name, "pid", c.current().PID())
		added = append(added, c)
	}
	return added, nil
}

// bringUp starts components one after the other: each needs those before it. On a
// busy machine, one that is started too early gives up before they are there.
func (s *Supervisor) bringUp(ctx context.Context, specs ...Spec) error {
	for _, spec := range specs {
		added, err := s.start(spec)
		if err != nil {
			return err
		}
		if err := waitReady(ctx, added); err != nil {
			return err
		}
	}
	return nil
}

func (s *Supervisor) add(spec Spec) (*component, error) {
	c, err := newComponent(spec, s.log)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ending {
		return nil, fmt.Errorf("component %s starts too late: the lab is stopping", spec.Name)
	}
	if _, exists := s.components[spec.Name]; exists {
		return nil, fmt.Errorf("component %s exists already", spec.Name)
	}
	s.components[spec.Name] = c
	return c, nil
}

// remove forgets a component.
func (s *Supervisor) remove(c *component) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.components, c.spec.Name)
}

func waitReady(ctx context.Context, components []*component) error {
	var tasks []func() error
	for _, c := range components {
		tasks = append(tasks, func() error { return c.waitReady(ctx) })
	}
	return inParallel(tasks)
}

// all returns the components by name.
func (s *Supervisor) all() []*component {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []*component
	for _, c := range s.components {
		all = append(all, c)
	}
	sort.Slice(all, func(i, j int) bool { return all[i].spec.Name < all[j].spec.Name })
	return all
}

// component finds a component by its name. The random end of a pod's name may be
// left out while there is one such pod.
func (s *Supervisor) component(name string) (*component, error) {
	s.mu.Lock()
	c, found := s.components[name]
	s.mu.Unlock()
	if found {
		return c, nil
	}
	var names []string
	var similar []*component
	for _, c := range s.all() {
		names = append(names, c.spec.Name)
		if strings.HasPrefix(c.spec.Name, name+"-") {
			similar = append(similar, c)
		}
	}
	if len(similar) == 1 {
		return similar[0], nil
	}
	return nil, notFound{fmt.Errorf("lab %s has no component %q; it has %q", s.instance.Name, name, names)}
}

// notFound is an error of the caller, who named something that is not there.
type notFound struct{ error }

func (notFound) status() int { return http.StatusNotFound }
