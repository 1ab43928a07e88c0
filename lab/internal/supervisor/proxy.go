package supervisor

import (
	"context"
	"fmt"
	"net/http"
	"os"

	"go.landscaper.dev/lab/internal/fault"
	"go.landscaper.dev/lab/internal/kube"
	"go.landscaper.dev/lab/internal/pki"
	"go.landscaper.dev/lab/internal/ports"
	"go.landscaper.dev/lab/internal/report"
)

// ensureProxy answers with the cluster's fault proxy, after starting it for the first request.
func (s *Supervisor) ensureProxy(r *http.Request, _ struct{}) (report.Proxy, error) {
	c, err := s.cluster(r.PathValue("cluster"))
	if err != nil {
		return report.Proxy{}, err
	}
	proxy, err := s.proxy(r.Context(), c)
	if err != nil {
		return report.Proxy{}, err
	}
	return *proxy, nil
}

func (s *Supervisor) proxy(ctx context.Context, c *cluster) (*report.Proxy, error) {
	c.starting.Lock()
	defer c.starting.Unlock()
	if c.proxy != nil {
		return c.proxy, nil
	}
	config, err := s.proxyConfig(c)
	if err != nil {
		return nil, fmt.Errorf("fault proxy of cluster %s: %w", c.Name, err)
	}
	access := &report.Proxy{
		Server: "https://" + config.Address, Admin: "https://" + config.AdminAddress,
		AdminToken: config.AdminToken, DecisionLog: config.DecisionLog,
		Kubeconfig: c.path("proxy", "kubeconfig"), CertKubeconfig: c.path("proxy", "kubeconfig-cert"),
	}
	if err := writeProxyKubeconfigs(c, access); err != nil {
		return nil, fmt.Errorf("fault proxy of cluster %s: %w", c.Name, err)
	}
	if err := s.startOwn(ctx, c.Name+"/proxy", config, accepts(config.AdminAddress)); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c.proxy = access // read by status under the supervisor's lock
	return access, nil
}

func (s *Supervisor) proxyConfig(c *cluster) (fault.Config, error) {
	config := fault.Config{
		Upstream: c.Server(), CAFile: c.CAFile(), AdminToken: pki.NewToken(),
		CertFile: c.path("proxy", "serving.crt"), KeyFile: c.path("proxy", "serving.key"),
		VouchCertFile: c.path("proxy", "vouch.crt"), VouchKeyFile: c.path("proxy", "vouch.key"),
		DecisionLog: c.path("proxy", "decisions.jsonl"), RulesFile: c.path("proxy", "rules.json"),
	}
	for _, address := range []*string{&config.Address, &config.AdminAddress} {
		port, err := s.ports.Reserve()
		if err != nil {
			return config, err
		}
		*address = ports.Address(port)
	}
	serving, err := c.Authority().Issue(pki.Subject{Name: "fault-proxy", Hosts: []string{"127.0.0.1", "localhost"}})
	if err != nil {
		return config, err
	}
	vouch, err := c.FrontProxy().Issue(pki.Subject{Name: "front-proxy-client"})
	if err != nil {
		return config, err
	}
	if err := os.MkdirAll(c.path("proxy"), 0o700); err != nil {
		return config, err
	}
	return config, writeFiles(map[string][]byte{
		config.CertFile: serving.Cert, config.KeyFile: serving.Key,
		config.VouchCertFile: vouch.Cert, config.VouchKeyFile: vouch.Key,
	})
}

func writeProxyKubeconfigs(c *cluster, proxy *report.Proxy) error {
	token := c.TokenAccess(kube.AdminUser, c.Token(kube.AdminUser))
	token.Server = proxy.Server
	if err := token.Write(proxy.Kubeconfig); err != nil {
		return err
	}
	certificate, err := c.CertAccess(kube.AdminUser, []string{kube.Masters})
	if err != nil {
		return err
	}
	certificate.Server = proxy.Server
	return certificate.Write(proxy.CertKubeconfig)
}
