package supervisor

import (
	"fmt"
	"net/http"
	"strings"
	"syscall"

	"go.landscaper.dev/lab/internal/kube"
	"go.landscaper.dev/lab/internal/report"
)

// SignalRequest asks for a signal to a component.
type SignalRequest struct {
	Component string `json:"component"`
	Signal    string `json:"signal"`
}

// signals are those that fault tests have a use for.
var signals = map[string]syscall.Signal{
	"KILL": syscall.SIGKILL, "TERM": syscall.SIGTERM, "INT": syscall.SIGINT,
	"STOP": syscall.SIGSTOP, "CONT": syscall.SIGCONT,
}

func (s *Supervisor) signal(_ *http.Request, request SignalRequest) (report.Component, error) {
	signal, known := signals[request.Signal]
	if !known {
		return report.Component{}, invalid{fmt.Errorf("signal %q: use KILL, TERM, INT, STOP or CONT", request.Signal)}
	}
	c, err := s.component(request.Component)
	if err != nil {
		return report.Component{}, err
	}
	if err := c.signal(signal); err != nil {
		return report.Component{}, err
	}
	s.log.Info("signalled", "component", request.Component, "signal", request.Signal)
	return c.report(), nil
}

// RestartRequest asks for a component to be killed, if it runs, and started.
type RestartRequest struct {
	Component string `json:"component"`
}

func (s *Supervisor) restart(r *http.Request, request RestartRequest) (report.Component, error) {
	c, err := s.component(request.Component)
	if err != nil {
		return report.Component{}, err
	}
	if err := c.restart(r.Context()); err != nil {
		return report.Component{}, err
	}
	s.log.Info("restarted", "component", request.Component)
	return c.report(), nil
}

func (c *cluster) report() report.Cluster {
	return report.Cluster{
		Server: c.Server(), Kubeconfig: c.Kubeconfig(), CertKubeconfig: c.CertKubeconfig(),
		CAFile: c.CAFile(), CAKeyFile: c.CAKeyFile(), Token: c.Token(kube.AdminUser), AuditLog: c.AuditLog(),
		ReadySeconds: c.ready.Seconds(), DiskBytes: diskUsage(c.Directory), Proxy: c.proxy,
	}
}

// clusterOf is the cluster part of a component's name, or the name itself.
func clusterOf(component string) string {
	cluster, _, _ := strings.Cut(component, "/")
	return cluster
}
