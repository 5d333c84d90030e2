// SPDX-License-Identifier: Apache-2.0
// The unit of scripts/compile-budget.txt: templates, containers and streams in the proportions of a filter's test.

#include <algorithm>
#include <functional>
#include <iostream>
#include <map>
#include <random>
#include <string>
#include <vector>
template <int N>
double
Sum(std::vector<double> & values)
{
  std::map<std::string, std::function<double(double)>> table{ { std::to_string(N), [](double x) { return x * N; } } };
  std::sort(values.begin(), values.end(), [](double a, double b) { return a * N < b; });
  std::mt19937 generator(N);
  std::cout << values.front() << std::to_string(N);
  return table.begin()->second(values.back()) + std::normal_distribution<>()(generator);
}
double
SumAll(std::vector<double> & v)
{
  return Sum<1>(v) + Sum<2>(v) + Sum<3>(v) + Sum<4>(v);
}
